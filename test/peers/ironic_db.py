"""Real Ironic's objects on a database: reads one JSON request per line, answers one JSON line each."""
import datetime
import json
import os
import sys

# the log of real Ironic goes to standard output: it must not mix with the answers
ANSWERS = os.fdopen(os.dup(1), 'w')
os.dup2(2, 1)

from ironic.common import context
from ironic.common import service
from ironic.db import api as db_api
from ironic import objects

service.prepare_command(['ironic-db', '--config-file', sys.argv[1]])
objects.register_all()
CTX = context.get_admin_context()
DB = db_api.get_instance()


def plain(value):
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=None).isoformat(timespec='seconds') + 'Z'
    if hasattr(value, 'as_dict'):
        return {k: plain(v) for k, v in value.as_dict().items()}
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value


def create(kind, values):
    obj = getattr(objects, kind)(CTX, **values)
    obj.create()
    # read anew: what creation leaves out is filled in by the database layer
    return get(kind, obj.uuid)


def save(kind, uuid, values):
    obj = getattr(objects, kind).get_by_uuid(CTX, uuid)
    for name, value in values.items():
        setattr(obj, name, value)
    obj.save()
    return plain(getattr(objects, kind).get_by_uuid(CTX, uuid))


def get(kind, uuid):
    return plain(getattr(objects, kind).get_by_uuid(CTX, uuid))


def listed(kind, marker=None, **kwargs):
    if marker is not None:
        kwargs['marker'] = getattr(objects, kind).get_by_uuid(CTX, marker)
    return plain(list(getattr(objects, kind).list(CTX, **kwargs)))


def call(method, *args):
    """A method of the database layer; what it gives back is left out."""
    getattr(DB, method)(*args)


def rows(method, *args):
    return [plain(dict(row)) for row in getattr(DB, method)(*args)]


def reserve(tag, uuid):
    return plain(objects.Node.reserve(CTX, tag, uuid))


def release(tag, node_id):
    objects.Node.release(CTX, tag, node_id)


def check_versions():
    return DB.check_versions()


ACTIONS = {f.__name__: f for f in (create, save, get, listed, call, rows, reserve, release, check_versions)}

for line in sys.stdin:
    request = json.loads(line)
    try:
        answer = {'result': ACTIONS[request['action']](*request.get('args', []), **request.get('kwargs', {}))}
    except Exception as exc:  # told to the test, which judges it
        answer = {'error': type(exc).__name__, 'message': str(exc)}
    print(json.dumps(answer), file=ANSWERS, flush=True)
