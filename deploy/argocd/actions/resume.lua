obj.spec.paused = nil
obj.spec.hibernated = nil
return obj
