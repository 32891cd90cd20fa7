"""What an application does with boto3 on ACLs, ownership controls and public access blocks, and a rename.

Reads its job from standard input as JSON and prints the outcome as JSON; asserts nothing itself.
"""

import json
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
    json.dump(outcome, sys.stdout)


main()
