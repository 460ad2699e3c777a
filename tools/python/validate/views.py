def check_sequence(file, table):
    pass
