"""The report: its data, its sentences, and the page that is made of them."""
