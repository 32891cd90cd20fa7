local os = require("os")
if obj.metadata.annotations == nil then
  obj.metadata.annotations = {}
end
obj.metadata.annotations["coffer.dev/restartedAt"] = os.date("!%Y-%m-%dT%H:%M:%SZ")
return obj
