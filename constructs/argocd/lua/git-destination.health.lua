-- Health of a GitDestination for Argo CD, by its one condition.

local function verdict(status, message)
  return { status = status, message = message }
end

local status = obj.status or {}
if status.observedGeneration == nil or status.observedGeneration < obj.metadata.generation then
  return verdict("Progressing", "Plumbline has not looked at generation " .. obj.metadata.generation .. " yet.")
end

for _, condition in ipairs(status.conditions or {}) do
  if condition.type == "Ready" then
    local words = condition.reason .. ": " .. condition.message
    if condition.status == "True" then
      return verdict("Healthy", words)
    end
    return verdict("Degraded", words)
  end
end
return verdict("Progressing", "Plumbline has said nothing of it yet.")
