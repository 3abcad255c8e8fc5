/**
 * The part of an API server that `lookup` in a chart needs: one Deployment with the given number of pods. Prints its
 * URL. Usage: node deploy/fake-cluster.js <replicas>
 */
import { createServer } from 'node:http';

const kindsOf = (groupVersion, kind) => ({
  kind: 'APIResourceList',
  groupVersion,
  resources: [{ name: `${kind.toLowerCase()}s`, namespaced: true, kind, verbs: ['get'] }],
});
const answers = {
  '/version': { major: '1', minor: '30', gitVersion: 'v1.30.0' },
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/apis': { kind: 'APIGroupList', groups: [{ name: 'apps', versions: [{ groupVersion: 'apps/v1', version: 'v1' }] }] },
  '/api/v1': kindsOf('v1', 'ConfigMap'),
  '/apis/apps/v1': kindsOf('apps/v1', 'Deployment'),
  '/apis/apps/v1/namespaces/default/deployments/waitlist-waitlist-service': {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    // Without these, Helm refuses the Deployment as one of another release.
    metadata: {
      labels: { 'app.kubernetes.io/managed-by': 'Helm' },
      annotations: { 'meta.helm.sh/release-name': 'waitlist', 'meta.helm.sh/release-namespace': 'default' },
    },
    spec: { replicas: Number(process.argv[2]) },
  },
};
const server = createServer(({ url }, response) => {
  const answer = answers[url.split('?')[0]];
  response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' });
  response.end(JSON.stringify(answer ?? { kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404 }));
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
