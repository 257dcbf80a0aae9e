"""Runs `openstack` commands in one process: a JSON list of arguments per line in, a JSON object per line out."""
import contextlib
import io
import json
import sys
import traceback
import warnings

from openstackclient import shell

warnings.simplefilter('ignore')
answers = sys.stdout

for line in sys.stdin:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = shell.OpenStackShell().run(json.loads(line))
        except SystemExit as end:
            status = end.code
        except Exception:
            traceback.print_exc()
            status = 1
    print(json.dumps({'status': status or 0, 'out': out.getvalue(), 'err': err.getvalue()}), file=answers, flush=True)
