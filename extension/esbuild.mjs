// Bundles the extension (for Node) and the view's script and style (for the webview's browser).
//   node esbuild.mjs [--production] [--tests]
import fs from 'node:fs';
import { build } from 'esbuild';

const production = process.argv.includes('--production');
const common = { bundle: true, minify: production, sourcemap: production ? false : 'linked', logLevel: 'warning' };
const node = { ...common, platform: 'node', format: 'cjs', target: 'node20' };

if (process.argv.includes('--tests')) {
  fs.rmSync('dist-test', { recursive: true, force: true });
  const entryPoints = fs.readdirSync('test').flatMap((name) => (name.endsWith('.test.ts') ? [`test/${name}`] : []));
  await build({ ...node, entryPoints, outdir: 'dist-test' });
} else {
  fs.rmSync('dist', { recursive: true, force: true });
  await Promise.all([
    build({ ...node, entryPoints: ['src/extension.ts'], outfile: 'dist/extension.js', external: ['vscode'] }),
    build({
      ...common,
      platform: 'browser',
      format: 'iife',
      target: 'es2022',
      entryPoints: { operators: 'src/webview/main.ts' },
      outdir: 'dist',
    }),
    build({ ...common, entryPoints: { operators: 'src/webview/operators.css' }, outdir: 'dist', target: 'chrome120' }),
  ]);
}
