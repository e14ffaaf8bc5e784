// Types and constants of all kernels. INDEX is defined at compile time: an unsigned type that holds the
// index of any sample.

typedef unsigned short uint16;
typedef unsigned int uint32;
typedef unsigned long long uint64;
typedef long long int64;

#define ALL_LANES 0xffffffffu
#define LANES 32
