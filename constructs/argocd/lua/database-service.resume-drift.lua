if obj.spec.drift ~= nil then
  obj.spec.drift.pause = nil
end
return obj
