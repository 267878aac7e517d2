local os = require("os")

-- The second argument of os.date is taken for local time in Argo CD, whatever the format says.
local offset = os.time() - os.time(os.date("!*t"))
local drift = obj.spec.drift or {}
drift.pause = {
  ["until"] = os.date("%Y-%m-%dT%H:%M:%SZ", os.time() + 3600 - offset),
  reason = "asked for in Argo CD",
}
obj.spec.drift = drift
return obj
