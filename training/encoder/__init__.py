"""The training of the second reader: a small multilingual encoder that judges what the first reader raises."""
