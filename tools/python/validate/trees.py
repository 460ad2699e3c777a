def check_octree(file, table):
    pass
