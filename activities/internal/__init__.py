"""Activities that workflows call themselves: definitions cannot name them."""
