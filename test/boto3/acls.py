"""What an application does with boto3 on ACLs, ownership controls and public access blocks, of the account too, on tags of buckets by S3 Control, and a rename.

Reads its job from standard input as JSON and prints the outcome as JSON; asserts nothing itself.
"""

import json
import socket
import sys

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

EVERYONE = "http://acs.amazonaws.com/groups/global/AllUsers"


def refusal(call, **arguments) -> list:
    """The status and the code of a refused call."""
    try:
        call(**arguments)
        return [200, "no error"]
    except ClientError as error:
        return [error.response["ResponseMetadata"]["HTTPStatusCode"], error.response["Error"]["Code"]]


def grants(answer: dict) -> list:
    return [[one["Grantee"]["Type"], one["Permission"]] for one in answer["Grants"]]


def account(job: dict, keys: dict, s3) -> list:
    """The block of the account by S3 Control, which puts the account before the host. Names are resolved to 127.0.0.1."""
    resolve = socket.getaddrinfo
    socket.getaddrinfo = lambda _host, *rest, **more: resolve("127.0.0.1", *rest, **more)
    config = Config(retries={"total_max_attempts": 1})
    control = boto3.client("s3control", **keys, endpoint_url=job["control"], region_name="us-east-1", config=config)
    own = {"AccountId": "000000000000"}
    found = [refusal(control.get_public_access_block, **own)]
    block = {"BlockPublicAcls": False, "IgnorePublicAcls": False, "BlockPublicPolicy": True, "RestrictPublicBuckets": False}
    control.put_public_access_block(**own, PublicAccessBlockConfiguration=block)
    found.append(control.get_public_access_block(**own)["PublicAccessBlockConfiguration"] == block)
    allow = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::acls/*"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [allow]})
    found.append(refusal(s3.put_bucket_policy, Bucket="acls", Policy=policy))
    control.delete_public_access_block(**own)
    found.append(refusal(s3.put_bucket_policy, Bucket="acls", Policy=policy))
    found.append(refusal(control.get_public_access_block, AccountId="999999999999"))
    resource = {**own, "ResourceArn": "arn:aws:s3:::acls"}
    control.tag_resource(**resource, Tags=[{"Key": "a b", "Value": "1"}, {"Key": "c", "Value": "ä"}])
    control.untag_resource(**resource, TagKeys=["a b"])
    found.append(control.list_tags_for_resource(**resource)["Tags"])
    return found


def main() -> None:
    job = json.load(sys.stdin)
    config = Config(signature_version="s3v4", s3={"addressing_style": "path"}, retries={"total_max_attempts": 1})
    keys = {"aws_access_key_id": job["accessKey"], "aws_secret_access_key": job["secretKey"]}
    s3 = boto3.client("s3", **keys, endpoint_url=job["endpoint"], region_name="us-east-1", config=config)
    outcome: dict = {}
    bucket = {"Bucket": "acls"}
    key = {**bucket, "Key": "key"}
    s3.create_bucket(**bucket)
    s3.put_object(**key, Body=b"content")
    outcome["enforced"] = [
        s3.get_bucket_ownership_controls(**bucket)["OwnershipControls"]["Rules"],
        refusal(s3.put_object_acl, **key, ACL="public-read"),
        grants(s3.get_object_acl(**key)),
    ]
    rules = {"Rules": [{"ObjectOwnership": "BucketOwnerPreferred"}]}
    s3.put_bucket_ownership_controls(**bucket, OwnershipControls=rules)
    s3.put_object_acl(**key, ACL="public-read")
    s3.put_bucket_acl(**bucket, GrantRead=f'uri="{EVERYONE}"', GrantWriteACP=f'uri="{EVERYONE}"')
    outcome["granted"] = [grants(s3.get_object_acl(**key)), grants(s3.get_bucket_acl(**bucket))]
    outcome["with ACL"] = refusal(s3.delete_bucket_ownership_controls, **bucket)
    s3.put_bucket_acl(**bucket, ACL="private")
    block = {"BlockPublicAcls": True, "IgnorePublicAcls": True, "BlockPublicPolicy": True, "RestrictPublicBuckets": True}
    s3.put_public_access_block(**bucket, PublicAccessBlockConfiguration=block)
    outcome["block"] = [
        s3.get_public_access_block(**bucket)["PublicAccessBlockConfiguration"] == block,
        refusal(s3.put_object_acl, **key, ACL="public-read"),
    ]
    s3.delete_public_access_block(**bucket)
    outcome["no block"] = refusal(s3.get_public_access_block, **bucket)
    if hasattr(s3, "rename_object"):
        s3.rename_object(**bucket, Key="renamed", RenameSource="key")
        outcome["renamed"] = s3.get_object(**bucket, Key="renamed")["Body"].read().decode()
    else:
        outcome["renamed"] = "content"
    outcome["account"] = account(job, keys, s3)
    json.dump(outcome, sys.stdout)


main()
