"""The compiled core of the searches: money, and the steps that take jobs out and put them back."""
