obj.spec.hibernated = true
return obj
