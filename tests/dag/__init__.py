"""The heart, attacked: laws over random plans, every state of all small plans, and scenarios by name."""
