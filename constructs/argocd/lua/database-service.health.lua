-- Health of a DatabaseService for Argo CD, by its conditions. What the database does not do now is Progressing or Degraded; what needs somebody's
-- attention and hinders nothing, such as a backup that failed, stands in the message of Healthy, so that no deployment is held up by it.

local function verdict(status, message)
  return { status = status, message = message }
end

local status = obj.status or {}

if obj.metadata.deletionTimestamp ~= nil then
  for _, condition in ipairs(status.conditions or {}) do
    if condition.reason == "RemovalPending" then
      return verdict("Progressing", condition.reason .. ": " .. condition.message)
    end
  end
  return verdict("Progressing", "The object is being deleted.")
end

if status.observedGeneration == nil or status.observedGeneration < obj.metadata.generation then
  return verdict("Progressing", "Plumbline has not looked at generation " .. obj.metadata.generation .. " yet.")
end

local conditions = {}
for _, condition in ipairs(status.conditions or {}) do
  conditions[condition.type] = condition
end

local function is(type, value)
  return conditions[type] ~= nil and conditions[type].status == value
end

local function words(type)
  return conditions[type].reason .. ": " .. conditions[type].message
end

if conditions.Ready == nil then
  return verdict("Progressing", "Plumbline has said nothing of it yet.")
end

if is("Stalled", "True") then
  -- Of members that cannot go on, Ready has the words.
  if conditions.Ready.status == "False" and conditions.Ready.reason == conditions.Stalled.reason then
    return verdict("Degraded", words("Ready"))
  end
  return verdict("Degraded", words("Stalled"))
end

if is("Degraded", "True") then
  return verdict("Degraded", words("Degraded"))
end

if not is("Ready", "True") then
  return verdict("Progressing", words("Ready"))
end

-- All members are ready, and something that is wanted is not there yet.
if conditions.Progressing ~= nil and conditions.Progressing.reason ~= "Settled" then
  return verdict("Progressing", words("Progressing"))
end

-- Where Git is on the way to the cluster, a part of that way is still to go; what others changed hinders nothing, and Drifted tells of it.
local underWay = { CommitPending = true, ChangeHeld = true, ReviewPending = true, ReviewBlocked = true, MergePending = true, SyncPending = true }
for _, type in ipairs({ "Committed", "Merged", "Synced" }) do
  if is(type, "False") and underWay[conditions[type].reason] then
    return verdict("Progressing", words(type))
  end
end

local notes = { conditions.Ready.message }
for _, type in ipairs({ "StorageCritical", "Drifted", "Paused" }) do
  if is(type, "True") then
    table.insert(notes, words(type))
  end
end
if is("Committed", "False") and conditions.Committed.reason == "OldFilesRemain" then
  table.insert(notes, words("Committed"))
end
if is("Merged", "False") and conditions.Merged.reason == "ReviewDeclined" then
  table.insert(notes, words("Merged"))
end
if is("Committed", "False") and conditions.Committed.reason == "EditedInGit" then
  table.insert(notes, words("Committed"))
end
local harmless = { TlsOff = true, CertificatePending = true, BackupOff = true, NoBackupYet = true }
for _, type in ipairs({ "TlsReady", "BackupCurrent" }) do
  if is(type, "False") and not harmless[conditions[type].reason] then
    table.insert(notes, words(type))
  end
end
return verdict("Healthy", table.concat(notes, " "))
