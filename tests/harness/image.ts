import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { cp, realpath, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from './programs.ts';

const isRoot = process.getuid?.() === 0;

/** What building and running the image here needs. Only root may make a Debian. */
export const imagePrograms = {
  buildah: findProgram('buildah'),
  debootstrap: findProgram('debootstrap'),
  'user root': isRoot ? 'root' : null,
};

/** Builds without namespaces of its own, which a machine that is itself a container may not make. */
const environment = { ...process.env, BUILDAH_ISOLATION: 'chroot' };

export interface Images {
  /** Runs buildah, with storage of its own. Resolves to what it prints. */
  buildah(...args: string[]): Promise<string>;
  /** Starts a command of buildah that goes on. */
  start(...args: string[]): ChildProcess;
}

const run = async (program: string, args: string[]): Promise<string> => {
  try {
    return (await promisify(execFile)(program, args, { env: environment, maxBuffer: 256 * 1024 * 1024 }))
      .stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${args.join(' ')}\n${stdout.slice(-4_000)}\n${stderr.slice(-4_000)}`);
  }
};

/**
 * Makes the two images that the Dockerfile begins with from Debian's archive, in place of those of a registry:
 * `localhost/debian`, and `localhost/node`, which is the same with a Node and the npm of this machine. All of it, the
 * storage of images too, is in `folder`.
 */
export const makeBaseImages = async (folder: string): Promise<Images> => {
  const storage = [
    '--root',
    join(folder, 'storage'),
    '--runroot',
    join(folder, 'run'),
    '--storage-driver',
    'vfs',
  ];
  const buildah = (...args: string[]) => run(imagePrograms.buildah!, [...storage, ...args]);
  const start = (...args: string[]) =>
    spawn(imagePrograms.buildah!, [...storage, ...args], {
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const debian = join(folder, 'debian');
  await run(imagePrograms.debootstrap!, ['--variant=minbase', 'trixie', debian]);
  await rm(join(debian, 'var/cache/apt'), { recursive: true });
  const save = async (name: string, ...variables: string[]) => {
    const container = (await buildah('from', 'scratch')).trim();
    await buildah('add', '--quiet', container, debian, '/');
    const path = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
    await buildah('config', ...[path, ...variables].flatMap((one) => ['--env', one]), container);
    await buildah('commit', '--quiet', '--rm', container, name);
  };
  await save('localhost/debian');
  const local = join(debian, 'usr/local');
  await cp(dirname(dirname(await realpath(findProgram('npm')!))), join(local, 'lib/npm'), {
    recursive: true,
  });
  await cp(process.execPath, join(local, 'bin/node'));
  await symlink('../lib/npm/bin/npm-cli.js', join(local, 'bin/npm'));
  // Of a proxy that stands between this machine and the registry.
  const certificates = process.env.NODE_EXTRA_CA_CERTS;
  if (certificates) await cp(certificates, join(local, 'lib/certificates.pem'));
  await save(
    'localhost/node',
    ...(certificates ? ['NODE_EXTRA_CA_CERTS=/usr/local/lib/certificates.pem'] : []),
  );
  return { buildah, start };
};
