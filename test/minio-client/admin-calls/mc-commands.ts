/**
 * A command line of `mc` for each call that it makes, in an order in which each has something to act on. `ALIAS` is the server, `FOLDER` a folder of
 * the test, `OTHER` the URL of a server with the keys `KEY` and `SECRET` and the bucket `other`.
 */
export const mcCommands: readonly string[] = `
admin info ALIAS
admin user add ALIAS mcann ann-secret-key
admin user add ALIAS mcbob bob-secret-key
admin user disable ALIAS mcbob
admin user info ALIAS mcbob
admin user info ALIAS nobody
admin user enable ALIAS mcbob
admin user list ALIAS
admin group add ALIAS mcteam mcann mcbob
admin group disable ALIAS mcteam
admin group info ALIAS mcteam
admin group enable ALIAS mcteam
admin group list ALIAS
admin policy create ALIAS mcreader FOLDER/policy.json
admin policy info ALIAS mcreader
admin policy list ALIAS
admin policy attach ALIAS mcreader --user mcann
admin policy attach ALIAS mcreader --user mcann
admin policy entities ALIAS --policy mcreader
admin policy detach ALIAS mcreader --user mcann
admin accesskey create ALIAS mcann --access-key mc-access-key --secret-key mc-secret-key --name made --description by-mc
admin accesskey info ALIAS mc-access-key
admin accesskey info ALIAS no-access-key
admin accesskey ls ALIAS --all
admin accesskey edit ALIAS mc-access-key --description changed
admin accesskey disable ALIAS mc-access-key
admin accesskey enable ALIAS mc-access-key
admin accesskey rm ALIAS mc-access-key
admin accesskey sts-revoke ALIAS mcann --all
admin user svcacct add ALIAS mcbob --access-key mc-other-key --secret-key mc-other-secret
admin user svcacct list ALIAS mcbob
admin user svcacct info ALIAS mc-other-key
admin user svcacct edit ALIAS mc-other-key --description changed
admin user svcacct rm ALIAS mc-other-key
admin user sts info ALIAS no-access-key
idp openid ls ALIAS
idp openid info ALIAS none
idp openid rm ALIAS none
idp openid add ALIAS client_id=a
idp openid update ALIAS client_id=b
idp openid accesskey ls ALIAS
idp ldap ls ALIAS
idp ldap policy entities ALIAS
idp ldap policy attach ALIAS readonly --user uid=ann
idp ldap policy detach ALIAS readonly --user uid=ann
idp ldap accesskey ls ALIAS
idp ldap accesskey create ALIAS uid=ann
admin cluster iam export ALIAS --output FOLDER/ALIAS-iam.zip
admin cluster iam import ALIAS FOLDER/ALIAS-iam.zip
admin cluster bucket export ALIAS
admin cluster bucket import ALIAS FOLDER/ALIAS-bucket-metadata.zip
admin config get ALIAS api
admin config set ALIAS scanner speed=fast
admin config set ALIAS scanner sped=fast
admin config reset ALIAS scanner
admin config export ALIAS
admin config history ALIAS
admin config restore ALIAS none
quota set ALIAS/madmin --size 1GiB
quota info ALIAS/madmin
quota clear ALIAS/madmin
quota info ALIAS/no-such-bucket
replicate add ALIAS/madmin --remote-bucket OTHERWITHKEYS/other
replicate ls ALIAS/madmin
replicate status ALIAS/madmin
replicate diff ALIAS/madmin
replicate backlog ALIAS/madmin
replicate rm ALIAS/madmin --all --force
ilm tier add minio ALIAS MCCOLD --endpoint OTHER --access-key KEY --secret-key SECRET --bucket other --prefix mc
ilm tier ls ALIAS
ilm tier info ALIAS
ilm tier check ALIAS MCCOLD
ilm tier check ALIAS NONE
ilm tier update ALIAS MCCOLD --access-key KEY --secret-key SECRET
ilm tier rm ALIAS MCCOLD
admin kms key create ALIAS mc-key
admin kms key status ALIAS
admin kms key list ALIAS
batch generate ALIAS expire
batch start ALIAS FOLDER/expire.yaml
batch list ALIAS
batch status ALIAS none
batch describe ALIAS none
batch cancel ALIAS none
admin replicate info ALIAS
admin replicate status ALIAS
admin replicate rm ALIAS --all --force
admin replicate update ALIAS --deployment-id none --endpoint http://127.0.0.1:1
admin scanner status ALIAS --bucket madmin
support top locks ALIAS --airgap --dev
support top disk ALIAS --airgap --dev -n 1
support perf drive ALIAS --airgap --dev --filesize 1MiB
support perf object ALIAS --airgap --dev --duration 2s --size 64KiB --concurrent 2
support perf net ALIAS --airgap --dev --duration 1s
support perf client ALIAS --airgap --dev --duration 3s
support perf site-replication ALIAS --airgap --dev --duration 1s
support profile ALIAS --airgap --dev --type cpu --duration 1
support inspect ALIAS/madmin/a/xl.meta --airgap --dev
support diag ALIAS --airgap --dev
admin heal ALIAS
admin decommission status ALIAS
admin decommission start ALIAS /data
admin decommission cancel ALIAS /data
admin rebalance start ALIAS
admin rebalance status ALIAS
admin rebalance stop ALIAS
admin update ALIAS http://127.0.0.1:1/none --yes
admin user rm ALIAS mcbob
admin user rm ALIAS nobody
admin group rm ALIAS mcteam mcann
admin group rm ALIAS mcteam
admin policy rm ALIAS mcreader
admin service freeze ALIAS
admin service unfreeze ALIAS
admin service restart ALIAS --dry-run
`
  .trim()
  .split('\n');
