import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { type ConnectionOptions, checkServerIdentity, createSecureContext } from 'node:tls';

export const tlsModes = ['disable', 'require', 'verify_full'] as const;

/** TLS of a connection to a foreign server. */
export interface TlsSettings {
  /** `require` encrypts without checking who the server is; `verify_full` checks its certificate and its name. */
  mode: (typeof tlsModes)[number];
  /** PEM, like the two below. Instead of the authorities that Node trusts. */
  ca?: string;
  client_certificate?: string;
  /** Secret. */
  client_key?: string;
}

/** The options of TLS for a host, whatever the protocol. */
export const tlsOptions = ({ mode, ca, client_certificate, client_key }: TlsSettings): ConnectionOptions => ({
  ...(ca === undefined ? {} : { ca }),
  ...(client_certificate === undefined ? {} : { cert: client_certificate }),
  ...(client_key === undefined ? {} : { key: client_key }),
  rejectUnauthorized: mode === 'verify_full',
});

/** The options that check the certificate for the host as it was configured, whatever address was dialled. */
export const tlsIdentity = (
  host: string,
  { mode }: TlsSettings,
): Pick<ConnectionOptions, 'servername' | 'checkServerIdentity'> => ({
  // Not an address: RFC 6066, section 3. Without a server name, Node would check the certificate for `localhost`.
  ...(isIP(host) === 0 ? { servername: host } : {}),
  checkServerIdentity: (_name, certificate) =>
    mode === 'verify_full' ? checkServerIdentity(host, certificate) : undefined,
});

export const sameTls = (a: TlsSettings, b: TlsSettings): boolean =>
  (['mode', 'ca', 'client_certificate', 'client_key'] as const).every((field) => a[field] === b[field]);

/** Throws unless all certificates can be read. OpenSSL passes over those that it cannot. */
const readCertificates = (pem: string): void => {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g);
  if (!found) throw new Error('no certificate');
  for (const one of found) new X509Certificate(one);
};

/** The faults of certificates and keys, which would otherwise show at each connection. `path`: that of a field of TLS. */
export const tlsFaults = (
  { ca, client_certificate, client_key }: TlsSettings,
  path: (field: string) => string,
): { path: string; message: string }[] => {
  if ((client_certificate === undefined) !== (client_key === undefined)) {
    const missing = client_key === undefined ? 'client_key' : 'client_certificate';
    return [{ path: path(missing), message: 'is required with the other of the two' }];
  }
  const faults: { path: string; message: string }[] = [];
  const check = (field: string, message: string, read: () => unknown): void => {
    try {
      read();
    } catch {
      faults.push({ path: path(field), message });
    }
  };
  if (ca !== undefined) check('ca', 'cannot be read', () => readCertificates(ca));
  if (client_certificate !== undefined) {
    check('client_certificate', 'cannot be read', () => readCertificates(client_certificate));
    check('client_key', 'cannot be read, or does not belong to client_certificate', () =>
      createSecureContext({ cert: client_certificate, key: client_key }),
    );
  }
  return faults;
};
