// Does what Argo CD does with what it is given. Lua runs in the same interpreter with the same conversions, with the libraries that Argo CD opens
// for scripts of a user's own (package, base and table, and of os only time and date), and for a second at most. The templates of an ApplicationSet
// are Go's. Reads requests as one JSON list, and prints what came of each as another.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"text/template"
	"time"

	"github.com/argoproj/argo-cd/v3/resource_customizations"
	lua "github.com/yuin/gopher-lua"
	luajson "layeh.com/gopher-json"
)

type request struct {
	// The text of a script, or the path of one that Argo CD brings along, such as batch/CronJob/health.lua.
	Script  string `json:"script"`
	BuiltIn string `json:"builtIn"`
	Object  any    `json:"object"`
	// By name, for an action.
	Parameters map[string]string `json:"parameters"`
	// Instead of a script: a template that the object is the data of.
	Template string `json:"template"`
}

type answer struct {
	Value json.RawMessage `json:"value,omitempty"`
	Error string          `json:"error,omitempty"`
}

func main() {
	var requests []request
	if err := json.NewDecoder(os.Stdin).Decode(&requests); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	answers := make([]answer, len(requests))
	for i, one := range requests {
		value, err := run(one)
		if err != nil {
			answers[i] = answer{Error: err.Error()}
		} else {
			answers[i] = answer{Value: value}
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(one request) (json.RawMessage, error) {
	if one.Template != "" {
		return fill(one.Template, one.Object)
	}
	script := one.Script
	// Argo CD opens all libraries for what it brings along.
	isBuiltIn := one.BuiltIn != ""
	if isBuiltIn {
		text, err := resource_customizations.Embedded.ReadFile(one.BuiltIn)
		if err != nil {
			return nil, err
		}
		script = string(text)
	}
	l := lua.NewState(lua.Options{SkipOpenLibs: !isBuiltIn})
	defer l.Close()
	if !isBuiltIn {
		openLibraries(l)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	l.SetContext(ctx)
	parameters := l.NewTable()
	for name, value := range one.Parameters {
		parameters.RawSetString(name, lua.LString(value))
	}
	l.SetGlobal("actionParams", parameters)
	l.SetGlobal("obj", luajson.DecodeValue(l, one.Object))
	if err := l.DoString(script); err != nil {
		return nil, err
	}
	return luajson.Encode(l.Get(-1))
}

func fill(text string, data any) (json.RawMessage, error) {
	parsed, err := template.New("").Option("missingkey=error").Parse(text)
	if err != nil {
		return nil, err
	}
	var filled strings.Builder
	if err := parsed.Execute(&filled, data); err != nil {
		return nil, err
	}
	return json.Marshal(filled.String())
}

// Of os there is what `require("os")` gives, and no global.
func openLibraries(l *lua.LState) {
	open(l, lua.LoadLibName, lua.OpenPackage)
	open(l, lua.BaseLibName, lua.OpenBase)
	open(l, lua.TabLibName, lua.OpenTable)
	open(l, lua.OsLibName, lua.OpenOs)
	whole := l.GetGlobal(lua.OsLibName).(*lua.LTable)
	safe := l.NewTable()
	for _, name := range []string{"time", "date"} {
		safe.RawSetString(name, whole.RawGetString(name))
	}
	l.SetGlobal(lua.OsLibName, lua.LNil)
	loaded := l.GetField(l.GetGlobal("package"), "loaded").(*lua.LTable)
	loaded.RawSetString(lua.OsLibName, safe)
}

func open(l *lua.LState, name string, library lua.LGFunction) {
	l.Push(l.NewFunction(library))
	l.Push(lua.LString(name))
	l.Call(1, 0)
}
