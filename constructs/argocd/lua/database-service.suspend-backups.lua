if obj.spec.backup ~= nil then
  obj.spec.backup.suspend = true
end
return obj
