-- Health of a StatefulSet for Argo CD. A customization is for every StatefulSet of a cluster, so those that are not Plumbline's are judged here as
-- Argo CD itself does. That is never Degraded (argo-cd#6527), however long no pod becomes ready; members of a database are, when nothing has
-- happened for ten minutes.

local os = require("os")
local patienceSeconds = 600

local function verdict(status, message)
  return { status = status, message = message }
end

local status = obj.status or {}
local ready = status.readyReplicas or 0
local updated = status.updatedReplicas or 0
local replicas = obj.spec.replicas
local strategy = obj.spec.updateStrategy or {}

if (status.observedGeneration or 0) == 0 or (obj.metadata.generation or 0) > status.observedGeneration then
  return verdict("Progressing", "Waiting for statefulset spec update to be observed...")
end

local isMember = (obj.metadata.labels or {})["plumbline.dev/database"] ~= nil

-- When Kubernetes last saw something happen: it writes the status when pods come, go, or become ready. Later than that, somebody may have changed
-- what is wanted.
local function lastEvent()
  local last = obj.metadata.creationTimestamp
  for _, entry in ipairs(obj.metadata.managedFields or {}) do
    if entry.time ~= nil and (last == nil or entry.time > last) then
      last = entry.time
    end
  end
  return last
end

-- A moment before now, as Kubernetes writes times. The second argument of os.date is taken for local time there, whatever the format says.
local function ago(seconds)
  local utc = os.date("!*t")
  local offset = os.time() - os.time(utc)
  return os.date("%Y-%m-%dT%H:%M:%SZ", os.time() - seconds - offset)
end

if replicas ~= nil and ready < replicas then
  if not isMember then
    return verdict("Progressing", "Waiting for " .. (replicas - ready) .. " pods to be ready...")
  end
  local count = ready .. " of " .. replicas .. " members are ready"
  local last = lastEvent()
  if last ~= nil and last < ago(patienceSeconds) then
    return verdict("Degraded", count .. ", and nothing has happened since " .. last .. ".")
  end
  return verdict("Progressing", count .. ".")
end

if strategy.type == "OnDelete" then
  if isMember then
    local message = ready .. " of " .. (replicas or 1) .. " members are ready"
    if updated < (status.replicas or 0) then
      message = message .. ", " .. updated .. " with the newest template"
    end
    return verdict("Healthy", message .. ".")
  end
  return verdict("Healthy", "statefulset has " .. ready .. " ready pods")
end

local rolling = strategy.rollingUpdate
if strategy.type == "RollingUpdate" and rolling ~= nil then
  if replicas ~= nil and rolling.partition ~= nil and updated < replicas - rolling.partition then
    return verdict(
      "Progressing",
      "Waiting for partitioned roll out to finish: "
        .. updated .. " out of " .. (replicas - rolling.partition) .. " new pods have been updated..."
    )
  end
  return verdict("Healthy", "partitioned roll out complete: " .. updated .. " new pods have been updated...")
end

if status.updateRevision ~= status.currentRevision then
  return verdict(
    "Progressing",
    "waiting for statefulset rolling update to complete "
      .. updated .. " pods at revision " .. tostring(status.updateRevision) .. "..."
  )
end
return verdict(
  "Healthy",
  "statefulset rolling update complete "
    .. (status.currentReplicas or 0) .. " pods at revision " .. tostring(status.currentRevision) .. "..."
)
