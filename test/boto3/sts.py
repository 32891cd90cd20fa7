"""What programs do with STS by boto3: a role as a user, and a web identity by the variables of a pod alone.

Reads its job from standard input as JSON and prints the outcome as JSON; asserts nothing itself.
"""

import json
import sys

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

path_style = Config(signature_version="s3v4", s3={"addressing_style": "path"})


def code_of(call) -> str:
    try:
        call()
        return "allowed"
    except ClientError as error:
        return error.response["Error"]["Code"]


def main() -> None:
    job = json.load(sys.stdin)
    if job.get("pod"):
        s3 = boto3.client("s3", config=path_style)
        who = boto3.client("sts").get_caller_identity()
        outcome = {
            "reads": code_of(lambda: s3.get_object(Bucket="reports", Key="a")),
            "writes": code_of(lambda: s3.put_object(Bucket="reports", Key="b", Body=b"")),
            "arn": who["Arn"],
        }
    else:
        common = {"endpoint_url": job["endpoint"], "region_name": "us-east-1"}
        user = {"aws_access_key_id": job["accessKey"], "aws_secret_access_key": job["secretKey"]}
        sts = boto3.client("sts", **common, **user)
        role = sts.assume_role(
            RoleArn="arn:aws:iam::123456789012:role/any", RoleSessionName="boto3", Policy=job["policy"], DurationSeconds=900
        )["Credentials"]
        borrowed = {
            "aws_access_key_id": role["AccessKeyId"],
            "aws_secret_access_key": role["SecretAccessKey"],
            "aws_session_token": role["SessionToken"],
        }
        s3 = boto3.client("s3", **common, **borrowed, config=path_style)
        outcome = {
            "reads": code_of(lambda: s3.get_object(Bucket="reports", Key="a")),
            "writes": code_of(lambda: s3.put_object(Bucket="reports", Key="b", Body=b"")),
            "tooLong": code_of(
                lambda: sts.assume_role(
                    RoleArn="arn:aws:iam::123456789012:role/any", RoleSessionName="boto3", DurationSeconds=40_000_000
                )
            ),
        }
    json.dump(outcome, sys.stdout)


main()
