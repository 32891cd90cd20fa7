-- Health of Tenant, IdentityProvider, KMSConfig and Bucket (coffer.dev) for Argo CD, by the rules of kstatus.
if obj.metadata.deletionTimestamp ~= nil then
  return { status = "Progressing", message = "is being deleted" }
end
local status = obj.status
if status == nil or status.conditions == nil or status.observedGeneration ~= obj.metadata.generation then
  return { status = "Progressing", message = "the operator has not seen this version yet" }
end
local conditions = {}
for _, condition in ipairs(status.conditions) do
  conditions[condition.type] = condition
end
local function tell(condition)
  return condition.reason .. ": " .. condition.message
end
if conditions.Stalled ~= nil and conditions.Stalled.status == "True" then
  return { status = "Degraded", message = tell(conditions.Stalled) }
end
if conditions.Reconciling ~= nil and conditions.Reconciling.status == "True" then
  return { status = "Progressing", message = tell(conditions.Reconciling) }
end
if obj.spec ~= nil and obj.spec.hibernated == true then
  return { status = "Suspended", message = "hibernated" }
end
if obj.spec ~= nil and obj.spec.paused == true then
  return { status = "Suspended", message = "paused" }
end
if conditions.Ready ~= nil and conditions.Ready.status == "True" then
  return { status = "Healthy", message = conditions.Ready.message }
end
if conditions.Ready ~= nil then
  return { status = "Progressing", message = tell(conditions.Ready) }
end
return { status = "Progressing", message = "no condition Ready yet" }
