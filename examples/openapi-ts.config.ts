import { defineConfig } from '@hey-api/openapi-ts';

/** Makes `examples/client` from the OpenAPI document. Its imports end in `.ts`, because Node runs it as it is. */
export default defineConfig({
  input: './openapi.json',
  output: { path: './examples/client', module: { extension: '.ts' } },
});
