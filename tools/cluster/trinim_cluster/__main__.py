from trinim_cluster.cli import main

main()
