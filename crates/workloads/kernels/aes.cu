// AES-128 encryption of many blocks (in electronic-codebook mode, so that all are independent).
// A thread computes one column of the state, four threads a 16-byte block: byte substitution, row
// shift and column mixing in one look-up a byte in four tables, which a thread block copies from
// constant to shared memory first. Columns go from thread to thread through shared memory, with a
// barrier a round. No lane ever leaves the others; look-ups hit banks at random.
#include "warpsim.cuh"

#define THREADS 256
#define ROUNDS 10

__constant__ u32 tables[4][256];       // what a byte of row 0..3 adds to its column
__constant__ u32 keys[4 * ROUNDS + 4]; // round keys, a word a column
__constant__ u8 sbox[256];             // the last round has no column mixing

extern "C" __global__ void __launch_bounds__(THREADS, 2)
aes(const u32 *plain, u32 *cipher, u32 words) {
    __shared__ u32 table[4][256];
    __shared__ u32 state[2][THREADS];
    u32 t = threadIdx.x, index = blockIdx.x * THREADS + t;
    for (u32 i = 0; i < 4; i++)
        table[i][t] = tables[i][t];
    u32 column = t % 4, block = t - column;
    // Beyond the end threads go along for the barriers.
    bool there = index < words;
    state[0][t] = (there ? plain[index] : 0) ^ keys[column];
    __syncthreads();
    u32 a = block + column, b = block + (column + 1) % 4;
    u32 c = block + (column + 2) % 4, d = block + (column + 3) % 4;
    u32 now = 0;
    for (u32 round = 1; round < ROUNDS; round++) {
        u32 next = keys[4 * round + column] ^ table[0][state[now][a] & 255] ^
                   table[1][state[now][b] >> 8 & 255] ^ table[2][state[now][c] >> 16 & 255] ^
                   table[3][state[now][d] >> 24];
        now ^= 1;
        state[now][t] = next;
        __syncthreads();
    }
    u32 last = (u32)sbox[state[now][a] & 255] | (u32)sbox[state[now][b] >> 8 & 255] << 8 |
               (u32)sbox[state[now][c] >> 16 & 255] << 16 | (u32)sbox[state[now][d] >> 24] << 24;
    if (there)
        cipher[index] = last ^ keys[4 * ROUNDS + column];
}
