/**
 * Shows the contract in Swagger UI. A first start prints a link to /docs with the owner's values after the `#`, which
 * browsers never send. They fill in the examples, so that each operation works as it is, until the tab is closed.
 */
(async ({ src }) => {
  const linked = new URLSearchParams(location.hash.slice(1));
  if (linked.has('api_key')) {
    sessionStorage.setItem('examples', JSON.stringify(Object.fromEntries(linked)));
    history.replaceState(null, '', location.pathname);
  }
  const examples = JSON.parse(sessionStorage.getItem('examples') ?? '{}');
  const spec = await (await fetch(new URL('../../openapi.json', src))).json();
  const { CreateTokens, OffboardWaiters } = spec.components.schemas;
  const fields = [
    ...Object.entries(CreateTokens.properties),
    ['api_key', OffboardWaiters.properties.api_key],
    ['api_key', spec.paths['/api/v1/waiter'].get.parameters.find(({ name }) => name === 'api_key')],
  ];
  for (const [name, field] of fields) if (examples[name] !== undefined) field.example = examples[name];
  SwaggerUIBundle({
    spec,
    dom_id: '#swagger-ui',
    deepLinking: true,
    displayRequestDuration: true,
    persistAuthorization: true,
    tryItOutEnabled: true,
    defaultModelsExpandDepth: 0,
    syntaxHighlight: { theme: 'idea' },
    validatorUrl: null,
  });
})(document.currentScript);
