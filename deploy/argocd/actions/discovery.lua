-- Actions of Tenant and KMSConfig. What changes spec is set back by a sync: it is meant for applications without self-healing.
local actions = { ["restart"] = { ["disabled"] = false }, ["rotate"] = { ["disabled"] = false } }
if obj.kind == "Tenant" then
  local spec = obj.spec or {}
  actions["pause"] = { ["disabled"] = spec.paused == true }
  actions["hibernate"] = { ["disabled"] = spec.hibernated == true }
  actions["resume"] = { ["disabled"] = spec.paused ~= true and spec.hibernated ~= true }
end
return actions
