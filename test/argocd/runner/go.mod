// Pins Argo CD, for its CustomResourceDefinitions and the health scripts that it brings along, and the Lua interpreter that it has.
module plumbline.dev/argocd/runner

go 1.26.3

require (
	github.com/argoproj/argo-cd/v3 v3.5.7
	github.com/yuin/gopher-lua v1.1.2
	layeh.com/gopher-json v0.0.0-20190114024228-97fed8db8427
)
