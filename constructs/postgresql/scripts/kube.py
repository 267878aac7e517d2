"""A few calls of the Kubernetes API with the pod's service account, on the standard library alone."""

import http.client
import json
import os
import ssl

ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
MERGE_PATCH = "application/merge-patch+json"


class KubeError(Exception):
    """The API server did not answer, or answered with something else than was asked for."""

    def __init__(self, text, status=0):
        super().__init__(text)
        self.status = status


class Kube:
    def __init__(self, manager, account=None):
        self._account = account or os.environ.get("PLUMBLINE_ACCOUNT", ACCOUNT)
        self._manager = manager
        self.namespace = self._read("namespace")

    def get(self, kind, name):
        """The object, or None where there is none."""
        try:
            return self._request("GET", f"{kind}/{name}")
        except KubeError as error:
            if error.status == 404:
                return None
            raise

    def annotate(self, kind, name, annotations, version=None):
        """Sets annotations, or removes those that are None; with a version, only if the object is still that one."""
        metadata = {"annotations": annotations}
        if version is not None:
            metadata["resourceVersion"] = version
        return self._request("PATCH", f"{kind}/{name}?fieldManager={self._manager}", {"metadata": metadata})

    def _request(self, method, path, body=None):
        # The token and the certificates are rotated, so they are read each time.
        headers = {"Accept": "application/json", "Authorization": f"Bearer {self._read('token')}"}
        if body is not None:
            headers["Content-Type"] = MERGE_PATCH
        try:
            context = ssl.create_default_context(cafile=f"{self._account}/ca.crt")
            # A bare IPv6 address is fine here: http.client adds the brackets.
            connection = http.client.HTTPSConnection(
                os.environ["KUBERNETES_SERVICE_HOST"],
                int(os.environ["KUBERNETES_SERVICE_PORT"]),
                timeout=5,
                context=context,
            )
            try:
                url = f"/api/v1/namespaces/{self.namespace}/{path}"
                connection.request(method, url, None if body is None else json.dumps(body), headers)
                response = connection.getresponse()
                answer = response.read()
            finally:
                connection.close()
        except (OSError, http.client.HTTPException) as error:
            raise KubeError(f"the API server cannot be reached: {error}") from error
        if response.status >= 300:
            raise KubeError(f"{method} {path.split('?')[0]}: {_message(answer)}", response.status)
        return json.loads(answer)

    def _read(self, name):
        try:
            with open(f"{self._account}/{name}", encoding="utf-8") as file:
                return file.read().strip()
        except OSError as error:
            raise KubeError(f"the service account of the pod is not mounted: {error}") from error


def is_deleted(item):
    """Whether an object is to go; False where there is none."""
    return item is not None and item["metadata"].get("deletionTimestamp") is not None


def _message(answer):
    try:
        return json.loads(answer)["message"]
    except (ValueError, KeyError, TypeError):
        return answer[:200].decode("utf-8", "replace")
