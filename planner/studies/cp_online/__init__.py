"""The study of policies that plan the whole queue in every round: published figures beside ours."""
