import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

const schemeScript = fileURLToPath(new URL('./src/app/scheme.js', import.meta.url));

/**
 * Adds to a page the script that sets the color scheme before the first paint, and the preload of the typeface.
 * Both have hashed names, like everything under `/assets`. The chunks `early` are evaluated as soon as they are there,
 * each as a task of its own, while others are on their way. Otherwise all are evaluated in one task after the last one.
 * They are asked for first, and the typeface after them, because a browser has six connections to a host, and text is
 * shown before the typeface is there.
 */
export const head = ({ early = [] }: { early?: readonly string[] } = {}): Plugin => {
  let scheme: string;
  return {
    name: 'console-head',
    apply: 'build',
    buildStart() {
      scheme = this.emitFile({ type: 'asset', name: 'scheme.js', source: readFileSync(schemeScript) });
    },
    transformIndexHtml: {
      order: 'post',
      handler: (html, { bundle }) => {
        const files = Object.values(bundle ?? {});
        const named = (name: string) =>
          files.find((file) => file.type === 'asset' && file.names.includes(name))?.fileName;
        const font = named('geist-latin-wght-normal.woff2');
        const script = named('scheme.js');
        if (!font || !script || !scheme) throw new Error('The typeface or scheme.js is not in the build.');
        const chunks = early.map((name) => {
          const chunk = files.find((file) => file.type === 'chunk' && file.name === name);
          if (!chunk) throw new Error(`The chunk ${name} is not in the build.`);
          return `/${chunk.fileName}`;
        });
        return {
          html: html.replace(/ *<link rel="modulepreload"[^>]*>\n/g, (link) =>
            chunks.some((src) => link.includes(src)) ? '' : link,
          ),
          tags: [
            { tag: 'script', attrs: { src: `/${script}` }, injectTo: 'head-prepend' },
            ...chunks.map((href) => ({
              tag: 'link',
              attrs: { rel: 'modulepreload', crossorigin: '', href },
              injectTo: 'head-prepend' as const,
            })),
            {
              tag: 'link',
              attrs: { rel: 'preload', as: 'font', type: 'font/woff2', crossorigin: '', href: `/${font}` },
              injectTo: 'head',
            },
            ...chunks.map((src) => ({
              tag: 'script',
              attrs: { type: 'module', async: true, crossorigin: '', src },
              injectTo: 'head' as const,
            })),
          ],
        };
      },
    },
  };
};
