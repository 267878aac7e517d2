if obj.metadata.annotations ~= nil then
  obj.metadata.annotations["plumbline.dev/rollback-to"] = nil
end
return obj
