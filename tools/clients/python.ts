import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ApiDocument, Operation } from '../console/api.ts';

const generator = 'datamodel-code-generator==0.89.0';
const folder = fileURLToPath(new URL('../../node_modules/.cache/clients', import.meta.url));

/** The schemas of the document as `TypedDict`s. Installs the generator in a folder of its own at the first time. */
export const pythonModels = (document: ApiDocument): string => {
  const command = `${folder}/bin/datamodel-codegen`;
  if (!existsSync(command)) {
    mkdirSync(folder, { recursive: true });
    execFileSync('python3', ['-m', 'venv', folder]);
    execFileSync(`${folder}/bin/pip`, ['install', '--quiet', '--disable-pip-version-check', generator]);
  }
  const options = [
    ...[
      '--input-file-type',
      'openapi',
      '--output-model-type',
      'typing.TypedDict',
      '--target-python-version',
      '3.11',
    ],
    ...[
      '--disable-timestamp',
      '--use-schema-description',
      '--formatters',
      'builtin',
      '--custom-file-header',
      ' ',
    ],
  ];
  const { components } = document;
  // Without operations: their parameters stand in _operations.py.
  const input = JSON.stringify({ ...document, paths: {}, components });
  return `${execFileSync(command, options, { input, encoding: 'utf8', maxBuffer: 64 * 2 ** 20 }).trim()}\n`;
};

const snake = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replace(/-/g, '_');

type Typed = { $ref?: string; type?: string | string[]; enum?: unknown[]; items?: Typed };

const typeOf = ({ $ref, type, enum: choices, items }: Typed): string => {
  if ($ref) return `models.${$ref.split('/').at(-1)}`;
  if (choices?.every((choice) => typeof choice === 'string'))
    return `Literal[${choices.map((c) => JSON.stringify(c)).join(', ')}]`;
  if (type === 'array') return `list[${items ? typeOf(items) : 'Any'}]`;
  if (type === 'object') return 'dict[str, Any]';
  return { integer: 'int', number: 'float', boolean: 'bool', string: 'str' }[String(type)] ?? 'Any';
};

const returnsOf = ({ returns, stream, download }: Operation): string => {
  if (stream) return 'Iterator[Event]';
  if (!returns) return 'None';
  if (returns.types.every((type) => type === 'application/json')) return typeOf(returns.schema);
  if (download) return 'bytes';
  return returns.types.includes('application/json') ? 'Any' : 'str';
};

const bodyType = ({ types, schema }: NonNullable<Operation['body']>): string =>
  types.every((type) => type === 'application/json') ? typeOf(schema) : 'dict[str, Any] | bytes';

const methodOf = (operation: Operation): string => {
  const { id, summary, method, path, parameters, body, key, stream, download } = operation;
  const named = parameters.map(({ name, in: place, schema }) => ({
    name,
    place,
    argument: name === 'from' ? 'from_' : snake(name.toLowerCase()),
    type: typeOf(schema),
  }));
  const of = (place: string) => named.filter((one) => one.place === place);
  const required = body?.required
    ? [`body: ${bodyType(body)}`]
    : body
      ? [`body: ${bodyType(body)} | None = None`]
      : [];
  const keywords = [...of('query'), ...of('header')].map(
    ({ argument, type }) => `${argument}: ${type} | None = None`,
  );
  const signature = [
    'self',
    ...of('path').map(({ argument }) => `${argument}: str`),
    ...required,
    ...(keywords.length ? ['*', ...keywords] : []),
  ];
  const dictionary = (place: string) =>
    `{${of(place)
      .map(({ name, argument }) => `"${name}": ${argument}`)
      .join(', ')}}`;
  const options = [
    ...(body ? ['body=body'] : []),
    ...(of('query').length ? [`query=${dictionary('query')}`] : []),
    ...(of('header').length ? [`headers=${dictionary('header')}`] : []),
    ...(key ? ['takes_key=True'] : []),
  ];
  const address = of('path').length ? `f"${path.replace(/\{(\w+)\}/g, '{quoted($1)}')}"` : `"${path}"`;
  return `    def ${snake(id)}(
${signature.map((one) => `        ${one},`).join('\n')}
    ) -> ${returnsOf(operation)}:
        """${summary}."""
        return self.${stream ? '_follow' : download ? '_download' : '_call'}(
            "${method}",
            ${address},
${options.map((one) => `            ${one},\n`).join('')}        )
`;
};

/** A class with a method for each operation. */
export const pythonOperations = (operations: Operation[]): string => `from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from . import models
from ._transport import Event, Transport, quoted


class Operations(Transport):
    """Every operation of the API, by its operationId."""

${operations.map(methodOf).join('\n')}`;
