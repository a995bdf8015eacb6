/** A part of a form: a file if it has a filename. */
export interface FormPart {
  name: string;
  filename?: string;
  content: string | Uint8Array;
  type?: string;
}

const boundary = 'form-boundary-0123456789';

/** A form (RFC 7578) as bytes, exactly as it is given. */
export const form = (parts: FormPart[]): { body: Buffer; headers: Record<string, string> } => ({
  body: Buffer.concat([
    ...parts.flatMap(({ name, filename, content, type }) => [
      Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${filename === undefined ? '' : `; filename="${filename}"`}\r\n${type ? `Content-Type: ${type}\r\n` : ''}\r\n`,
      ),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ]),
  headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
});
