local revision = tonumber(actionParams["revision"])
if revision == nil or revision < 1 or revision % 1 ~= 0 then
  error("revision must be a number of the history, such as 3", 0)
end
obj.metadata.annotations = obj.metadata.annotations or {}
obj.metadata.annotations["plumbline.dev/rollback-to"] = tostring(revision)
return obj
