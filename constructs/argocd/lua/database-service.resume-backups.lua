if obj.spec.backup ~= nil then
  obj.spec.backup.suspend = false
end
return obj
