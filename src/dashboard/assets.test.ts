import { spawnSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { loadAssets, loadAssetsInThread } from './assets.ts';

describe('the files of the page', () => {
  it('hold every module that one of them imports', () => {
    const { files, imports, entry } = loadAssets();
    expect(files.has(entry)).toBe(true);
    const missing: string[] = [];
    for (const [path, { type, body }] of files) {
      if (!type.startsWith('text/javascript')) continue;
      for (const [, name = ''] of body.matchAll(/(?:^|[;}\s])(?:import|export)[^'"();]*?from\s*["']([^"']+)["']/g)) {
        const target = name.startsWith('.') ? new URL(name, `http://page${path}`).pathname : imports[name];
        if (target === undefined || !files.has(target)) missing.push(`${path} imports ${name}`);
      }
    }
    expect(missing).toEqual([]);
  });

  it('are stripped of their types', () => {
    const { body } = loadAssets().files.get('/page/store.ts') ?? { body: '' };
    expect(body).toContain('export const view');
    expect(body).not.toContain('import type');
  });

  it('are read without a warning in the terminal of the user', () => {
    const program = `import { loadAssets } from ${JSON.stringify(new URL('./assets.ts', import.meta.url).href)}; loadAssets();`;
    const { stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
    });
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  });
});

it('is at most 250 KB when compressed', () => {
  const { files } = loadAssets();
  const bytes = [...files.values()].reduce((sum, { body }) => sum + gzipSync(body).length, 0);
  expect(bytes).toBeLessThanOrEqual(250 * 1_024);
  expect(bytes).toBeGreaterThan(10_000);
});

it('are the same from a thread', async () => {
  expect(await loadAssetsInThread()).toEqual(loadAssets());
});
