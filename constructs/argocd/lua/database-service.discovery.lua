-- What can be done to a DatabaseService in Argo CD, and what of it makes sense now.

local spec = obj.spec or {}
local isPaused = (spec.drift or {}).pause ~= nil
local isRolledBack = (obj.metadata.annotations or {})["plumbline.dev/rollback-to"] ~= nil
local backup = spec.backup
local actions = {}

actions["pause-drift"] = {
  disabled = isPaused,
  displayName = "Correct nothing for an hour",
  iconClass = "fa fa-fw fa-pause",
}
actions["resume-drift"] = {
  disabled = not isPaused,
  displayName = "Correct drift again",
  iconClass = "fa fa-fw fa-play",
}
actions["rollback"] = {
  displayName = "Run on an earlier revision",
  iconClass = "fa fa-fw fa-undo",
  params = { { name = "revision" } },
}
actions["end-rollback"] = {
  disabled = not isRolledBack,
  displayName = "Run on the spec again",
  iconClass = "fa fa-fw fa-redo",
}
actions["suspend-backups"] = {
  disabled = backup == nil or backup.suspend == true,
  displayName = "Suspend backups",
  iconClass = "fa fa-fw fa-pause-circle",
}
actions["resume-backups"] = {
  disabled = backup == nil or backup.suspend ~= true,
  displayName = "Resume backups",
  iconClass = "fa fa-fw fa-play-circle",
}
return actions
