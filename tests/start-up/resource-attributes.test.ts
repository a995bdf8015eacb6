import { expect, it } from 'vitest';
import { ConfigError, readConfig } from '../../src/config.ts';

const attributesOf = (given: string, name?: string) =>
  readConfig({ OTEL_RESOURCE_ATTRIBUTES: given, OTEL_SERVICE_NAME: name }).resourceAttributes;

it('reads OTEL_RESOURCE_ATTRIBUTES as the specification says, and OTEL_SERVICE_NAME wins', () => {
  expect(attributesOf('deployment.environment=staging, service.name = a%20b%2Cc ,x=y=z,')).toEqual({
    'deployment.environment': 'staging',
    'service.name': 'a b,c',
    x: 'y=z',
  });
  expect(attributesOf('service.name=a', 'b')).toEqual({ 'service.name': 'b' });
  expect(readConfig({}).resourceAttributes).toEqual({});
});

it.each(['no pair', '=value', 'a=%zz'])('refuses %j', (text) => {
  expect(() => attributesOf(text)).toThrow(ConfigError);
});
