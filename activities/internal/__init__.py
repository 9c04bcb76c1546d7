"""Activities that workflows call for themselves: no definition can name them."""
