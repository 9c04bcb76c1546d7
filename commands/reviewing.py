"""`docrail reviews`: the group, put together of what its files hold."""

from commands.review_fields import review_fields
from commands.review_work import review_work
from commands.reviews import reviews

__all__ = ["reviews"]

for acts in (review_work, review_fields):
    reviews.add_typer(acts)
