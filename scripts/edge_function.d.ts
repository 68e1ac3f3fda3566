// What Examples/Mirror/supabase uses of Deno, for scripts/mirror-test.sh.
declare const Deno: {
  env: { get(name: string): string | undefined };
  serve(handler: (request: Request) => Response | Promise<Response>): unknown;
};
