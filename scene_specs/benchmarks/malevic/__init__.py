"""MALeViC (Pezzelle and Fernandez, EMNLP 2019): what "big" means among flat colored shapes."""
