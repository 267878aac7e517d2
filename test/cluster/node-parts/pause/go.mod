// The first process of a pod or of a node.
module plumbline.dev/node/pause

go 1.26.0
