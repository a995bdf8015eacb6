import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { Transform, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyConfig, type BusboyFileStream } from '@fastify/busboy';
import { ApiError, badRequest } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';

/** The form with a file that a route takes. */
export interface UploadSpec {
  /** The folder in which files wait until the handler has them. */
  folder: string;
  /** The largest file, in bytes, and the setting that says so. */
  maxBytes: () => number;
  setting: string;
  /** The texts that the form may have besides the part `file`, with their descriptions. */
  fields: Readonly<Record<string, string>>;
}

/** The file of a form, in the folder for uploads, and the texts next to it. */
export interface Upload {
  /** Removed when the handler has ended, unless it was moved away. */
  path: string;
  /** As the client named it; empty without a name. */
  filename: string;
  size: number;
  /** In hex. */
  sha256: string;
  fields: Readonly<Record<string, string>>;
}

export const isForm = (contentType = ''): boolean => /^multipart\/form-data *(;|$)/i.test(contentType);

const maxFieldBytes = 256 * 1024;
/** Parts that no one knows are read over, up to this number of parts. */
const maxParts = 20;

/** Lets bytes through, and counts and hashes them. Fails beyond `max` bytes. */
class Meter extends Transform {
  readonly hash = createHash('sha256');
  readonly #max: number;
  readonly #tooLarge: () => Error;
  size = 0;

  constructor(max: number, tooLarge: () => Error) {
    super();
    this.#max = max;
    this.#tooLarge = tooLarge;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.size += chunk.length;
    if (this.size > this.#max) done(this.#tooLarge());
    else {
      this.hash.update(chunk);
      done(null, chunk);
    }
  }
}

const makeBusboy = (headers: BusboyConfig['headers']): InstanceType<typeof Busboy> => {
  try {
    return new Busboy({
      headers,
      preservePath: true,
      isPartAFile: (field, _type, filename) => field === 'file' || filename !== undefined,
      limits: { fieldSize: maxFieldBytes, parts: maxParts, headerPairs: 100 },
    });
  } catch {
    throw badRequest('The Content-Type must be multipart/form-data with a boundary.');
  }
};

/** Pipes the request into busboy. Not by `pipeline`, which would close the connection before the response is sent. */
const feed = (request: IncomingMessage, busboy: InstanceType<typeof Busboy>): Promise<void> =>
  new Promise((resolve, reject) => {
    const onClose = () => void (request.complete || busboy.destroy(new Error('the client has left')));
    const settle = (error?: Error) => {
      request.off('close', onClose).unpipe(busboy);
      if (error) reject(error);
      else resolve();
    };
    // Not `once`: a second error, such as that of the part after that of the form, would end the process.
    busboy.once('finish', () => settle()).on('error', settle);
    request.once('close', onClose).pipe(busboy);
  });

/**
 * Reads a form (RFC 7578) with one part `file`, which is written to the folder (0600) as it comes. Throws 400 for what is
 * no such form. Whatever goes wrong, also a client that leaves, leaves no file behind.
 */
export const readUpload = async (request: IncomingMessage, spec: UploadSpec): Promise<Upload> => {
  const { headers } = request;
  if (!isForm(headers['content-type'])) {
    throw badRequest('A form with a file is required, with Content-Type: multipart/form-data.');
  }
  const maxBytes = spec.maxBytes();
  const tooLarge = () =>
    badRequest(`The file is larger than ${maxBytes.toLocaleString('en')} bytes.`, { setting: spec.setting });
  // The form around the file is small.
  if (Number(headers['content-length'] ?? 0) > maxBytes + maxParts * maxFieldBytes) throw tooLarge();
  await mkdir(spec.folder, { recursive: true, mode: 0o700 });
  const path = join(spec.folder, `upload-${newId()}`);
  const busboy = makeBusboy(headers as BusboyConfig['headers']);
  const fields: Record<string, string> = {};
  const meter = new Meter(maxBytes, tooLarge);
  let file: { filename: string; written: Promise<void> } | undefined;

  const refuse = (message: string) => void busboy.destroy(badRequest(message));
  busboy.on('file', (name: string, stream: BusboyFileStream, filename: string | undefined) => {
    // Busboy reports on itself what goes wrong with a part.
    stream.on('error', () => {});
    if (name !== 'file') return refuse(`\`${name}\` is not a file of this form: it has one part \`file\`.`);
    if (file) return refuse('The form has more than one part `file`.');
    // When the client leaves, busboy ends neither the part nor itself: its `close` ends the file.
    const written = pipeline(stream, meter, createWriteStream(path, { mode: 0o600, flags: 'wx' }));
    busboy.once('close', () => stream.destroy());
    written.catch((error) => busboy.destroy(error));
    file = { filename: filename ?? '', written };
  });
  busboy.on('field', (name: string, value: string, _nameCut: boolean, valueCut: boolean) => {
    if (!Object.hasOwn(spec.fields, name)) return;
    if (Object.hasOwn(fields, name)) return refuse(`The form has the part \`${name}\` twice.`);
    if (valueCut) return refuse(`The part \`${name}\` is longer than ${maxFieldBytes / 1024} KB.`);
    fields[name] = value;
  });
  busboy.on('partsLimit', () => refuse(`The form has more than ${maxParts} parts.`));

  try {
    await feed(request, busboy).catch((error: Error) => {
      throw error instanceof ApiError ? error : badRequest('The form is not complete.');
    });
    await file?.written;
    if (!file) throw badRequest('The form has no part `file`.');
    if (meter.size === 0) throw badRequest('The file is empty.');
    return { path, filename: file.filename, size: meter.size, sha256: meter.hash.digest('hex'), fields };
  } catch (error) {
    await file?.written.catch(() => {});
    await rm(path, { force: true });
    throw error;
  } finally {
    // The rest of a refused form is read and dropped, so that the client gets the response.
    request.resume();
  }
};

/** Returns the body of the form for the OpenAPI document. */
export const uploadBody = ({ fields }: UploadSpec): Record<string, unknown> => ({
  required: true,
  content: {
    'multipart/form-data': {
      schema: {
        type: 'object',
        required: ['file'],
        properties: {
          file: { type: 'string', format: 'binary' },
          ...Object.fromEntries(
            Object.entries(fields).map(([name, description]) => [name, { type: 'string', description }]),
          ),
        },
      },
    },
  },
});
