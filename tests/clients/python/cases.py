"""Each case is called with a client and prints one JSON value: `python cases.py CASE`, with URL and KEY."""

import json
import os
import sys
import typing

from agent_platform import ApiError, Client, each


def create_and_change(platform: Client) -> object:
    agent = platform.create_agent({"name": "Clerk", "mode": "worker"})
    etag = platform.request("GET", f"/agents/{agent['id']}").headers["etag"]
    changed = platform.update_agent(agent["id"], {"name": "Day clerk"}, if_match=etag)
    try:
        platform.update_agent(agent["id"], {"name": "Late"}, if_match=etag)
        refused = None
    except ApiError as error:
        refused = [error.status, error.code]
    return {"name": changed["name"], "refused": refused, "deleted": platform.delete_agent(agent["id"])}


def refusal(platform: Client) -> object:
    try:
        platform.create_agent({"name": "", "mode": "worker"})
    except ApiError as error:
        return {"status": error.status, "error_id": error.error_id, "details": error.details, "text": str(error)}
    return None


def foreign_refusal(platform: Client) -> object:
    try:
        platform.list_agents()
    except ApiError as error:
        return [error.status, error.code, str(error)]
    return None


def create_one(platform: Client) -> object:
    return platform.create_agent({"name": "Only one", "mode": "worker"})["name"]


def change(platform: Client) -> object:
    agent = platform.create_agent({"name": "Changed", "mode": "worker"})
    try:
        platform.update_agent(agent["id"], {"name": "Changed"})
    except ApiError as error:
        return error.status
    return None


def pages(platform: Client) -> object:
    agent = platform.create_agent({"name": "Busy", "mode": "worker"})
    for name in "abc":
        platform.create_work_item({"agent_id": agent["id"], "message": name, "work_item_name": name})
    items = each(platform.list_work_items, agent_id=agent["id"], limit=2)
    return {
        "items": sorted(item["work_item_name"] for item in items),
        "agents": [agent["name"] for agent in each(platform.list_agents, limit=1)].count("Busy"),
    }


def stream(platform: Client) -> object:
    agent = platform.create_agent({"name": "Talker", "mode": "conversational"})
    conversation = platform.create_conversation(agent["id"], {})
    events = platform.stream_message(agent["id"], conversation["id"], {"content": "Hello"})
    return [[event.id, event.event] for event in events]


def files(platform: Client) -> object:
    agent = platform.create_agent({"name": "Reader", "mode": "conversational"})
    conversation = platform.create_conversation(agent["id"], {})
    body = {"file": ("ledger.csv", b"month,total\nMay,12", "text/csv")}
    stored = platform.create_conversation_file(agent["id"], conversation["id"], body)
    content = platform.download_conversation_file(agent["id"], conversation["id"], stored["id"])
    return [stored["name"], content.decode()]


def types(_: Client) -> object:
    """Every type that the methods name exists."""
    methods = [method for name, method in vars(Client.__mro__[1]).items() if not name.startswith("_")]
    for method in methods:
        typing.get_type_hints(method)
    return len(methods)


if __name__ == "__main__":
    with Client(os.environ["URL"], os.environ["KEY"]) as client:
        print(json.dumps(globals()[sys.argv[1]](client)))
