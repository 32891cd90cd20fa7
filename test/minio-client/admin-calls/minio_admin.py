"""Makes each call of minio-py's MinioAdmin once, in an order in which each has something to act on, and prints what came of them: lists of
the call, "done" or the code of the refusal, the answer as it was read, and the requests."""

import json
import sys

import urllib3
from urllib.parse import urlsplit
from minio import Minio, MinioAdmin
from minio.credentials import StaticProvider
from minio.datatypes import PeerInfo, PeerSite, SiteReplicationStatusOptions
from minio.error import MinioAdminException

job = json.load(sys.stdin)
address, access_key, secret_key = job["address"], job["accessKey"], job["secretKey"]


class RecordingPool(urllib3.PoolManager):
    requests = []

    def urlopen(self, method, url, redirect=True, **kwargs):
        self.requests.append(f"{method} {urlsplit(url).path}")
        return super().urlopen(method, url, redirect, **kwargs)


admin = MinioAdmin(
    endpoint=address,
    credentials=StaticProvider(access_key, secret_key),
    secure=False,
    http_client=RecordingPool(retries=False, timeout=60),
)
s3 = Minio(endpoint=address, access_key=access_key, secret_key=secret_key, secure=False)
# Calls to make; all of them if there are none.
only = job.get("only", [])
if not only:
    s3.make_bucket(bucket_name="minio-py")

allow = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": ["arn:aws:s3:::minio-py/*"]}],
}
results = []


def call(method, *args, label=None, **kwargs):
    if only and method not in only:
        return None
    RecordingPool.requests = requests = []

    def add(end, value):
        results.append([label or method, end, value, requests])

    try:
        text = getattr(admin, method)(*args, **kwargs)
    except MinioAdminException as error:
        try:
            code = json.loads(error._body)["Code"]
        except (ValueError, KeyError, TypeError):
            code = f"{error._code} {str(error._body)[:200]}"
        add(code, None)
        return None
    except Exception as error:
        add(f"{type(error).__name__}: {error}", None)
        return None
    try:
        value = json.loads(text)
    except (ValueError, TypeError):
        value = text
    add("done", value)
    return value


call("info")
call("account_info")
call("account_info", prefix_usage=True, label="account_info with prefixes")
call("user_add", "ann", "ann-secret-key")
call("user_info", "ann")
call("user_list")
call("user_disable", "ann")
call("user_enable", "ann")
call("user_info", "nobody", label="user_info of nobody")
call("group_add", "team", ["ann"])
call("group_info", "team")
call("group_list")
call("group_disable", "team")
call("group_enable", "team")
call("policy_add", "reader", policy=allow)
call("policy_info", "reader")
call("policy_list")
call("attach_policy", ["reader"], user="ann")
call("attach_policy", ["reader"], user="ann", label="attach_policy again")
call("attach_policy", ["reader"], group="team", label="attach_policy to a group")
call("get_policy_entities", ["ann"], [], [])
call("get_policy_entities", [], ["team"], [], label="get_policy_entities of a group")
call("get_policy_entities", [], [], ["reader"], label="get_policy_entities of a policy")
call("policy_unset", "reader", user="ann")
call("detach_policy", ["reader"], group="team")
call("policy_set", "reader", user="ann")
call("add_service_account", name="made", description="by minio-py", policy=allow, label="add_service_account with a policy")
call("add_service_account", access_key="given-access-key", secret_key="given-secret-key")
call("get_service_account", "given-access-key")
call("update_service_account", access_key="given-access-key", description="changed", status="off")
call("list_service_account", access_key)
call("delete_service_account", "given-access-key")
call("get_service_account", "given-access-key", label="get_service_account of a removed one")
call("bucket_quota_set", "minio-py", 1 << 30)
call("bucket_quota_get", "minio-py")
call("bucket_quota_clear", "minio-py")
call("get_data_usage_info")
call("config_get", "api")
call("config_get", label="config_get of all")
call("config_set", "scanner", {"speed": "fast"})
call("config_history")
call("config_reset", "scanner")
call("top_locks")
call("kms_key_status")
call("get_site_replication_info")
call("group_remove", "team", ["ann"], label="group_remove of a member")
call("group_remove", "team")
call("policy_unset", "reader", user="ann", label="policy_unset at the end")
call("policy_remove", "reader")
call("user_remove", "ann")
call("attach_policy_ldap", ["readonly"], user="uid=ann")
call("list_access_keys_ldap", "uid=ann", "all")
call("detach_policy_ldap", ["readonly"], user="uid=ann")
call("list_access_keys_ldap_bulk", [], "all", True)
call("config_restore", "no-such-entry")
call("kms_key_create", "another-key")
call("get_site_replication_status", SiteReplicationStatusOptions(buckets=True, users=True))
call("add_site_replication", [PeerSite("here", f"http://{address}", access_key, secret_key), PeerSite("away", "http://127.0.0.1:1", access_key, secret_key)])
call("edit_site_replication", PeerInfo("none", "http://127.0.0.1:1", "0", "false", name="none"))
call("remove_site_replication", sites="none")
call("profile_start", ("cpu",))
print(json.dumps({"methods": [name for name in dir(MinioAdmin) if not name.startswith("_")], "results": results}))
